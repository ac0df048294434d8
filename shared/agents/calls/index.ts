export { AgentSchema, listAgents, presentAgent } from './list.ts'
export { AssignableAgentSchema, listWorkingAgents } from './list-working.ts'
