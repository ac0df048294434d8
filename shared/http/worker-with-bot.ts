import { createTelegramBot } from '../adapters/telegram.ts'
import { composeWorker, runWorker, type Worker } from './worker.ts'

/** The handler of a worker that declares the capability `bot` and writes to people: it carries the Bot API's client. */
export const runWorkerWithBot = (worker: Worker) => runWorker(worker, () => composeWorker(undefined, createTelegramBot))
