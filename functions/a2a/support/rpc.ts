import { buildLegacyCard, elementTo, pushFrom, pushTo, sendingFrom, taskTo } from '#shared/agents/a2a/index.ts'
import { type JsonRpcId, jsonRpcResult } from '#shared/http/json-rpc.ts'
import type { RawResponse, StreamResponse } from '#shared/http/response.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { fromProtoJson } from '#shared/kernel/a2a-json.ts'
import {
  cancel,
  createPushConfig,
  deletePushConfig,
  type Events,
  extendedCard,
  getPushConfig,
  getTask,
  list,
  listPushConfigs,
  required,
  sendMessage,
  sendStreamingMessage,
  subscribeToTask,
} from './operations.ts'
import { answerEvents, answerJson, inResponse } from './respond.ts'
import { type Asking, requireCallable, requireScope } from './scene.ts'

type Json = Record<string, unknown>

type Method = (asking: Asking, params: Json) => Promise<Json | Json[] | null>
type Stream = (asking: Asking, params: Json) => Promise<Events>

/** Methods of a version. `shape` gives an element of a stream its form. */
interface Methods {
  calls: ReadonlyMap<string, Method>
  streams: ReadonlyMap<string, Stream>
  shape(element: Json): Json
}

const MODERN: Methods = {
  calls: new Map<string, Method>([
    ['SendMessage', sendMessage],
    ['GetTask', getTask],
    ['ListTasks', list],
    ['CancelTask', cancel],
    ['CreateTaskPushNotificationConfig', createPushConfig('1.0')],
    ['GetTaskPushNotificationConfig', getPushConfig],
    ['ListTaskPushNotificationConfigs', listPushConfigs],
    ['DeleteTaskPushNotificationConfig', deletePushConfig],
    ['GetExtendedAgentCard', extendedCard],
  ]),
  streams: new Map<string, Stream>([
    ['SendStreamingMessage', sendStreamingMessage],
    ['SubscribeToTask', subscribeToTask],
  ]),
  shape: (element) => element,
}

const asKind = (element: Json): Json => elementTo('kind', element)

export const legacyExtendedCard = async (asking: Asking): Promise<Json> => {
  requireScope(asking.caller, 'runs:read')
  await requireCallable(asking)
  return (await buildLegacyCard(asking.work, asking.scene.agent, true)).json
}

const createLegacy = createPushConfig('0.3')
const legacyPush = (config: Json): Json => pushTo('kind', config)

/** Parameters of 0.3 that name a task, and perhaps one of its configurations. */
const named = (params: Json): Json => ({ taskId: required(params, 'id'), id: params.pushNotificationConfigId })

const LEGACY: Methods = {
  calls: new Map<string, Method>([
    ['message/send', async (asking, params) => asKind(await sendMessage(asking, sendingFrom('kind', params), '0.3'))],
    ['tasks/get', async (asking, params) => taskTo('kind', await getTask(asking, params))],
    ['tasks/cancel', async (asking, params) => taskTo('kind', await cancel(asking, params))],
    [
      'tasks/pushNotificationConfig/set',
      async (asking, params) => legacyPush(await createLegacy(asking, pushFrom(params))),
    ],
    [
      'tasks/pushNotificationConfig/get',
      async (asking, params) => legacyPush(await getPushConfig(asking, named(params))),
    ],
    [
      'tasks/pushNotificationConfig/list',
      async (asking, params) => {
        const { configs } = await listPushConfigs(asking, named(params))
        return (configs as Json[]).map(legacyPush)
      },
    ],
    [
      'tasks/pushNotificationConfig/delete',
      async (asking, params) => {
        await deletePushConfig(asking, named(params))
        return null
      },
    ],
    ['agent/getAuthenticatedExtendedCard', legacyExtendedCard],
  ]),
  streams: new Map<string, Stream>([
    ['message/stream', (asking, params) => sendStreamingMessage(asking, sendingFrom('kind', params), '0.3')],
    ['tasks/resubscribe', subscribeToTask],
  ]),
  shape: asKind,
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

interface Request {
  id: JsonRpcId
  method: string
  params: Json
}

/** Reads one request. @throws {A2aError} `INVALID_REQUEST` for anything else, batches and notifications included */
const readRequest = (body: unknown): Request => {
  const invalid = (message: string) => new A2aError('INVALID_REQUEST', { message })
  if (!isObject(body) || body.jsonrpc !== '2.0') throw invalid('The body must be one JSON-RPC 2.0 request.')
  const { id, method } = body
  const params = body.params ?? {}
  if (typeof id !== 'string' && !(typeof id === 'number' && Number.isFinite(id))) {
    throw invalid('The id of a request must be a string or a number.')
  }
  if (typeof method !== 'string') throw invalid('The request has no method.')
  if (!isObject(params)) throw new A2aError('INVALID_PARAMS', { message: 'The params must be an object.' })
  return { id, method, params: fromProtoJson('Params', params) }
}

/** Answers one request of the JSON-RPC binding. */
export const answerRequest = async (
  asking: Asking,
  body: unknown,
  version: string,
): Promise<RawResponse | StreamResponse> => {
  const { id, method, params } = readRequest(body)
  const { calls, streams, shape } = version === '0.3' ? LEGACY : MODERN
  const call = calls.get(method)
  if (call)
    return answerJson(
      asking,
      call(asking, params).then((result) => jsonRpcResult(id, result)),
    )
  const stream = streams.get(method)
  if (stream) return answerEvents(await stream(asking, params), inResponse(id, shape))
  throw new A2aError('METHOD_NOT_FOUND', {
    message: `Version ${version} of A2A has no method ${method.slice(0, 100)}.`,
    fix: 'Send A2A-Version with the version that your client speaks: an absent header means 0.3.',
  })
}
