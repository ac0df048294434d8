export { prepareSandboxInstall } from './installation.ts'
export {
  SandboxToken,
  SeededSchema,
  TestRun,
  TestRunResult,
  type TestRunView,
  type TriggerInput,
  TriggerSchema,
} from './schemas.ts'
export { DemoSchema, seedDemo } from './seed/demo.ts'
export { removeSandboxSeed } from './seed/remove.ts'
export { seedSandbox } from './seed/seed.ts'
export { findSucceededTestRun, TEST_TRIGGER } from './succeeded-test-run.ts'
export { limitTestRuns, performTestRun, testRun } from './test-run.ts'
export { issueSandboxToken } from './token.ts'
