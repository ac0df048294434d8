import { createServer } from 'node:http'
import { createAgent } from '@agent-integration-platform/sdk'
import { node } from '@agent-integration-platform/sdk/adapters'
import { openAiAgents } from '@agent-integration-platform/sdk/openai-agents'
import { Runner } from '@openai/agents'
import { agent } from './agent.ts'

const served = createAgent({
  secret: process.env.SIGNING_SECRET ?? '',
  onRun: openAiAgents(agent, { Runner }),
})

createServer(node(served)).listen(Number(process.env.PORT ?? 8080), () => console.log('listening'))
