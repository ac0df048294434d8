import { createServer } from 'node:http'
import { createAgent } from '@agent-integration-platform/sdk'
import { node } from '@agent-integration-platform/sdk/adapters'
import { aiSdk } from '@agent-integration-platform/sdk/ai-sdk'
import { agent } from './agent.ts'

const served = createAgent({
  secret: process.env.SIGNING_SECRET ?? '',
  onRun: aiSdk(agent),
})

createServer(node(served)).listen(Number(process.env.PORT ?? 8080), () => console.log('listening'))
