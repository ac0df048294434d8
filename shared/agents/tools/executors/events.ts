import { emitEvent } from '#shared/foundation/outbox/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Executor } from './executor.ts'

export const emitEventTool: Executor = async (work, { installation, run }, args) => {
  const { type, data } = args as { type: string; data: Record<string, unknown> }
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > LIMITS.eventDataBytes) {
    throw fail('payload_too_large', {
      message: `The event’s data has ${bytes} bytes; the maximum is ${LIMITS.eventDataBytes}.`,
    })
  }
  const named = type.startsWith('custom.') ? type : `custom.${type}`
  const write = emitEvent(work.clock, {
    type: named as `custom.${string}`,
    workspace_id: installation.workspace_id,
    installation_id: installation.id,
    app_id: installation.app_id,
    // Has the same visibility as the step that holds the same data.
    private_to: run?.private_to,
    data,
  })
  return { result: { event_id: String(write.item?.id), type: named }, writes: [write] }
}
