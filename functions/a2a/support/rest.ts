import type { Work } from '#shared/foundation/work/index.ts'
import { RawResponse, type StreamResponse } from '#shared/http/response.ts'
import { fromProtoJson, fromQuery } from '#shared/kernel/a2a-json.ts'
import type { Events } from './operations.ts'
import { answerEvents, answerJson } from './respond.ts'
import { type A2aCaller, type Asking, type Headers, requireVersion, sceneFor } from './scene.ts'

type Json = Record<string, unknown>

interface Context {
  work: Work
  caller: A2aCaller
  params: Record<string, string>
  body: unknown
  request: { headers: Headers; rawQuery: [string, string][] }
}

/** Parameters from the query and the body. */
const givenIn = ({ body, request }: Context): Json => ({
  ...fromQuery(request.rawQuery),
  ...fromProtoJson('Params', (body ?? {}) as Json),
})

/** Parameters of an operation, from the path, the query and the body. */
const paramsOf = (context: Context): Json => {
  const { task } = context.params
  return { ...givenIn(context), ...(task !== undefined && { id: task }) }
}

/** Parameters of an operation on push notification configurations, whose own id is the last in the path. */
export const pushParamsOf = (context: Context): Json => {
  const { task, config } = context.params
  return { ...givenIn(context), taskId: task, ...(config !== undefined && { id: config }) }
}

/** Turns operations into handlers of the HTTP+JSON binding of a version. */
export const restBinding = (version: '1.0' | '0.3') => {
  const open = async (context: Context): Promise<Asking> => {
    const { work, caller, params, request } = context
    const scene = await sceneFor(work, caller, String(params.id))
    requireVersion(request.headers, request.rawQuery, version)
    return { work, caller, scene, headers: request.headers }
  }
  return {
    calling:
      (
        operation: (asking: Asking, params: Json) => Promise<Json>,
        shape = (value: Json): Json => value,
        read = paramsOf,
      ) =>
      async (context: Context): Promise<RawResponse | StreamResponse> => {
        const asking = await open(context)
        return answerJson(asking, operation(asking, read(context)).then(shape))
      },
    streaming:
      (
        operation: (asking: Asking, params: Json) => Promise<Events | undefined>,
        shape = (element: Json): Json => element,
      ) =>
      async (context: Context): Promise<RawResponse | StreamResponse> => {
        const events = await operation(await open(context), paramsOf(context))
        return events ? answerEvents(events, shape) : new RawResponse(204, { 'cache-control': 'no-store' })
      },
  }
}
