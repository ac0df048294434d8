export { type OutsideTask, OutsideTaskEntity } from './entity.ts'
export { followOutsideRun, handleOverdueOutsideTask } from './follow.ts'
export { answerOutside, startOutsideRun, takeForAnswer } from './start.ts'
export { hasOutsideTask } from './wake.ts'
