export { AgentSchema, listAgents, presentAgent } from './list.ts'
export { type AgentTools, listCallableAgents } from './list-callable.ts'
export { AssignableAgentSchema, listWorkingAgents } from './list-working.ts'
