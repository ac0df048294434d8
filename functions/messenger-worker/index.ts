import { runWorkerWithBotSecret } from '#shared/http/worker-with-bot-secret.ts'
import { worker } from './worker.ts'

export const handler = runWorkerWithBotSecret(worker)
