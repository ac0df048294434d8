import type { LegacyForm } from '#shared/agents/a2a/index.ts'
import type { RawResponse, StreamResponse } from '#shared/http/response.ts'
import { answerEvents, answerJson } from './respond.ts'
import { type Asking, requireScope, type Version } from './scene.ts'
import type { Operation } from './table.ts'

type Json = Record<string, unknown>

/** Gives an answer, or an element of a stream, the form of a version. */
export const show = (operation: Operation, version: Version, form: LegacyForm, answer: Json): Json | Json[] | null => {
  const legacy = operation['0.3']?.show
  return version === '0.3' && legacy ? legacy(form, answer) : answer
}

/**
 * Performs an operation and answers with its outcome.
 * @param form that of the binding in version 0.3
 * @param wrap makes the body, or an event's data, of what the operation answers
 */
export const perform = async (
  operation: Operation,
  asking: Asking,
  given: Json,
  version: Version,
  form: LegacyForm,
  wrap: (shown: Json | Json[] | null) => Json,
): Promise<RawResponse | StreamResponse> => {
  requireScope(asking.caller, operation.scope)
  const read = operation['0.3']?.read
  const params = version === '0.3' && read ? read(form, given) : given
  const shape = (answer: Json): Json => wrap(show(operation, version, form, answer))
  return 'answer' in operation
    ? answerJson(asking, operation.answer(asking, params, version).then(shape))
    : answerEvents(await operation.events(asking, params, version), shape)
}
