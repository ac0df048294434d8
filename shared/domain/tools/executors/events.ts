import { tell } from '../../../events/outbox.ts'
import { fail } from '../../../kernel/errors.ts'
import { LIMITS } from '../../../kernel/limits.ts'
import type { Executor } from './executor.ts'

export const emitEvent: Executor = async (work, { installation, run }, args) => {
  const { type, data } = args as { type: string; data: Record<string, unknown> }
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > LIMITS.eventDataBytes) {
    throw fail('payload_too_large', {
      message: `The event’s data has ${bytes} bytes; at most ${LIMITS.eventDataBytes}.`,
    })
  }
  const named = type.startsWith('custom.') ? type : `custom.${type}`
  const write = tell(work.clock, {
    type: named as `custom.${string}`,
    workspace_id: installation.workspace_id,
    installation_id: installation.id,
    app_id: installation.app_id,
    // As the step that holds the same data.
    private_to: run?.private_to,
    data,
  })
  return { result: { event_id: String(write.item?.id), type: named }, writes: [write] }
}
