import { runWorker } from '#shared/http/worker.ts'
import { worker } from './worker.ts'

export const handler = runWorker(worker)
