import { requireChatScopes } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { ScopeHolder } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { problemOf } from '#shared/kernel/schedules/index.ts'
import { findUnstorable } from '#shared/kernel/storable.ts'
import { checkArguments, loadDeclaredTool } from '../calls/declared-tool.ts'
import { type EventWhen, isTimed, type When } from './entity.ts'
import { nextAfter } from './next.ts'
import { messageNeedsPerson, type Scene } from './prepare.ts'
import type { StartInput, WhenInput } from './schemas.ts'

/** Checks the events of a schedule, whose types later contexts declare. @throws `validation_error`, `insufficient_scope` */
export type CheckEvent = (when: EventWhen, reader: ScopeHolder) => void

interface Asked {
  now: number
  ends_at: number | undefined
  scene?: Scene
  /** Absent where events are checked before. */
  checkEvent?: CheckEvent
}

/** Checks when a schedule falls due. @throws `validation_error` for what doesn't exist or never comes */
export const checkWhen = (given: WhenInput, { now, ends_at, scene, checkEvent }: Asked): When => {
  if (ends_at !== undefined && ends_at <= now) throw wrong('ends_at', 'must be in the future')
  const when = given as When
  if (!isTimed(when)) {
    if (scene) checkEvent?.(when, { scopes: scene.installation.scopes, workspace: scene.workspace })
    return when
  }
  const problem = problemOf(when, now)
  if (problem) throw wrong(`when.${problem.field}`, problem.message)
  if (nextAfter({ when, anchor: now, ends_at }, now) === undefined) {
    throw wrong('when', ends_at === undefined ? 'never falls due' : 'doesn’t fall due before ends_at')
  }
  return when
}

const wrong = (field: string, problem: string) =>
  fail('validation_error', { message: `${field} ${problem}.`, details: { fields: { [field]: [problem] } } })

/**
 * Checks what a schedule starts its runs with.
 * @throws `tool_not_offered`, `invalid_arguments`, `payload_too_large`; `validation_error` for a message without a person;
 *   `conflict` for a message to an agent that may not answer
 */
export const checkStart = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  start: StartInput,
  scene: Scene,
  isPerson: boolean,
): Promise<string> => {
  const unstorable = findUnstorable(start)
  if (unstorable) throw wrong('start', unstorable)
  const text = JSON.stringify(start)
  const bytes = Buffer.byteLength(text)
  if (bytes > LIMITS.inlinePayloadBytes) {
    throw fail('payload_too_large', {
      message: `What the schedule starts with has ${bytes} bytes; the maximum is ${LIMITS.inlinePayloadBytes}.`,
      fix: 'Send less, or let the agent read the rest itself.',
    })
  }
  if (start.tool !== undefined) checkArguments(await loadDeclaredTool(deps, scene, start.tool), start.arguments ?? {})
  if (start.message !== undefined) {
    if (!isPerson) throw messageNeedsPerson()
    requireChatScopes(scene.installation, scene.workspace)
  }
  return text
}
