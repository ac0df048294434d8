export { mergeWrites } from './merge-writes.ts'
export { isVisibleTo } from './visibility.ts'
export { type Deps, type Work, type WorkerWork, type WorkWrite, withoutAnswer } from './work.ts'
