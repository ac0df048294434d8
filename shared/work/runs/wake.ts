import * as z from 'zod'
import type { Run } from './entity.ts'

/** Message about a run whose record says what is to do: for `dispatch` to send it, for `inline-runs` to start or continue it. */
export const RunMessage = () => z.object({ kind: z.literal('run'), run_id: z.string(), installation_id: z.string() })

/** Returns the message about a run. Its group makes an installation's runs wait only behind each other. */
export const runMessage = ({ id: run_id, installation_id }: Pick<Run, 'id' | 'installation_id'>) => ({
  body: { kind: 'run', run_id, installation_id } satisfies z.infer<ReturnType<typeof RunMessage>>,
  group: installation_id,
})
