import { checkRequiredAndTopLevelTypes } from '#shared/kernel/json-schema/arguments.ts'
import type { Check } from '#shared/kernel/json-schema/check-keyword.ts'
import { appendPointer, quoteName } from '#shared/kernel/json-schema/finding.ts'
import { isObject, type JsonObject } from '#shared/kernel/json-schema/json-object.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { problemOf } from '#shared/kernel/schedules/index.ts'

/** Checks proposed schedules: their keys, and what creating them would check. */
export const checkSchedules = (check: Check, schedules: unknown, tools: unknown): void => {
  const first = new Map<unknown, number>()
  const declared = Array.isArray(tools) ? tools.filter(isObject) : []
  const proposed = Array.isArray(schedules) ? schedules.slice(0, LIMITS.schedulesPerManifest) : []
  for (const [index, one] of proposed.entries()) {
    if (!isObject(one)) continue
    const path = appendPointer('/schedules', index)
    const earlier = first.get(one.key)
    if (typeof one.key === 'string' && earlier !== undefined)
      check.errors.add(
        appendPointer(path, 'key'),
        `Schedule ${earlier} also has the key ${quoteName(one.key)}.`,
        'Give each schedule its own key.',
      )
    else first.set(one.key, index)
    if (isObject(one.when)) checkWhen(check, one.when, appendPointer(path, 'when'))
    if (isObject(one.start)) checkStart(check, one.start, declared, appendPointer(path, 'start'))
  }
}

const checkWhen = (check: Check, { cron, time_zone, every, event, match }: JsonObject, path: string): void => {
  if ([cron, every, event].filter((one) => one !== undefined).length !== 1) {
    check.errors.add(path, 'A schedule needs exactly one of cron, every and event.', 'Use {"cron": "0 9 * * MON"}.')
    return
  }
  if (event === undefined && match !== undefined)
    check.errors.add(appendPointer(path, 'match'), 'Only an event has fields to match.', 'Remove the field.')
  if (cron === undefined && time_zone !== undefined)
    check.errors.add(appendPointer(path, 'time_zone'), 'Only cron has a time zone.', 'Remove the field.')
  const when =
    typeof every === 'string'
      ? { every }
      : typeof cron === 'string'
        ? { cron, time_zone: typeof time_zone === 'string' ? time_zone : 'UTC' }
        : undefined
  // Neither depends on the time of the check.
  const problem = when && problemOf(when, 0)
  if (problem)
    check.errors.add(appendPointer(path, problem.field), `The value ${problem.message}.`, 'Correct the value.')
}

const checkStart = (check: Check, start: JsonObject, tools: readonly JsonObject[], path: string): void => {
  const { input, tool } = start
  if ((input === undefined) === (tool === undefined)) {
    check.errors.add(path, 'A schedule starts with exactly one of input and tool.', 'Use {"input": {…}}.')
    return
  }
  if (tool === undefined && start.arguments !== undefined)
    check.errors.add(appendPointer(path, 'arguments'), 'Only a tool has arguments.', 'Use input, or name the tool.')
  const bytes = Buffer.byteLength(JSON.stringify(start))
  if (bytes > LIMITS.inlinePayloadBytes)
    check.errors.add(path, `It has ${bytes} bytes; the maximum is ${LIMITS.inlinePayloadBytes}.`, 'Shorten it.')
  if (typeof tool !== 'string') return
  const declared = tools.find(({ name }) => name === tool)
  if (!declared)
    check.errors.add(
      appendPointer(path, 'tool'),
      `The manifest has no tool ${quoteName(tool)}.`,
      'Name one of its tools, or use input.',
    )
  else
    for (const { path: at, message } of checkRequiredAndTopLevelTypes(declared.input_schema, start.arguments ?? {}))
      check.errors.add(`${appendPointer(path, 'arguments')}${at}`, `The argument ${message}.`, 'Correct the arguments.')
}
