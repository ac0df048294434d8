import { runWorkerWithBot } from '#shared/http/worker-with-bot.ts'
import { worker } from './worker.ts'

export const handler = runWorkerWithBot(worker)
