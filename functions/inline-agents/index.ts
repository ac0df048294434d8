import { runWorkerWithModel } from '#shared/http/worker-with-model.ts'
import { worker } from './worker.ts'

export const handler = runWorkerWithModel(worker)
