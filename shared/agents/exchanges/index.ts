export { listExchanges, RunExchangeSchema } from './read.ts'
export { recordExchange } from './record.ts'
