import { AsyncLocalStorage } from 'node:async_hooks'
import type { OutboxEvent } from './entity.ts'

type Cause = NonNullable<OutboxEvent['caused_by']>

const causes = new AsyncLocalStorage<Cause>()

/** Does what a run causes. Events that it makes say so. */
export const causedBy = <T>({ installation_id, id }: { installation_id: string; id: string }, act: () => T): T =>
  causes.run({ installation_id, run_id: id }, act)

/** Returns the run that causes what happens now, if it is known. */
export const currentCause = (): Cause | undefined => causes.getStore()
