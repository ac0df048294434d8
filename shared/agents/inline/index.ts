export { runInline } from './run.ts'
export { SAMPLE_MODEL } from './sample-model.ts'
