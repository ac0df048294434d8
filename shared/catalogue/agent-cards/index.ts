export { pinAgentCard } from './pin.ts'
export { type AgentCardPin, AgentCardPinSchema } from './schemas.ts'
