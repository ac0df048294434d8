import type { Run } from '../../entities/runs.ts'

/** Does another agent wait for this run's answer? Then it never outlives its chain (decisions §5). */
export const isAsked = ({ tool }: Pick<Run, 'tool'>): boolean => tool !== undefined

/**
 * When the sweep looks at a run next: at `at`, but at a run that is waited for at its chain's end at the latest. Whoever
 * waits ends it then; the sweep does when that one was lost.
 */
export const lookAt = (run: Pick<Run, 'tool' | 'chain_deadline'>, at: number | undefined): number | undefined =>
  isAsked(run) ? Math.min(at ?? run.chain_deadline, run.chain_deadline) : at
