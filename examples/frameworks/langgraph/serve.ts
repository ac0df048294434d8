import { createServer } from 'node:http'
import { createAgent } from '@agent-integration-platform/sdk'
import { node } from '@agent-integration-platform/sdk/adapters'
import { langGraph } from '@agent-integration-platform/sdk/langgraph'
import { Command } from '@langchain/langgraph'
import { graph } from './agent.ts'

const served = createAgent({
  secret: process.env.SIGNING_SECRET ?? '',
  onRun: langGraph(graph, { Command }),
})

createServer(node(served)).listen(Number(process.env.PORT ?? 8080), () => console.log('listening'))
