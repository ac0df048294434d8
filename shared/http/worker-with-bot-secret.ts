import { createBotSecret } from '../adapters/bot-secret.ts'
import { composeWorker, runWorker, type Worker } from './worker.ts'

/** The handler of a worker that declares the capability `bot` and speaks to the Bot API by itself. */
export const runWorkerWithBotSecret = (worker: Worker) =>
  runWorker(worker, () => composeWorker(undefined, createBotSecret))
