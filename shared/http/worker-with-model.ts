import { createLanguageModel } from '../adapters/language-model.ts'
import { composeWorker, runWorker, type Worker } from './worker.ts'

/** The handler of a worker that declares the capability `model`: only it carries the model's library. */
export const runWorkerWithModel = (worker: Worker) => runWorker(worker, () => composeWorker(createLanguageModel))
