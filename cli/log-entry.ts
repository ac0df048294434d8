import { RUN_ERRORS } from '../shared/kernel/run-errors.ts'

/** One entry of `GET /api/v1/dev/apps/{id}/logs`. */
export interface LogEntry {
  run_id: string
  version: string
  trigger: string
  status: string
  error_code: string | null
  duration_ms: number
  is_sandbox: boolean
  created_at: string
  finished_at: string
}

/** Explains a run's error code where the run's own message can't be read. */
export const meaningOf = (code: string): { message: string; fix: string } => {
  const known = Object.hasOwn(RUN_ERRORS, code) ? RUN_ERRORS[code as keyof typeof RUN_ERRORS] : undefined
  if (known) return { message: known.meaning, fix: known.fix }
  return {
    message: 'The agent failed with a code of its own.',
    fix: 'Look for the run’s ID in the agent’s logs.',
  }
}
