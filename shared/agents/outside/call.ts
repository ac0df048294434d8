import { loadSettingsForAgent } from '#shared/access/installations/index.ts'
import type { AgentCardPin } from '#shared/catalogue/agent-cards/index.ts'
import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadManifest } from '#shared/catalogue/versions/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { sendTraced } from '#shared/kernel/tracing/send.ts'
import type { Run } from '#shared/work/runs/index.ts'
import { messageTo } from '../a2a/legacy.ts'
import { sandboxRefusal } from '../egress/sandbox-budget.ts'
import { logCall } from '../outgoing/log-call.ts'
import type { Target } from '../targets/types.ts'
import { CredentialsFailure, loadCredentials } from './credentials.ts'
import type { OutgoingMessage } from './message.ts'
import { type Reading, readAnswer } from './task.ts'

type A2a = Extract<Manifest['runtime'], { type: 'a2a' }>

/** Everything needed to call an outside agent for a workspace. */
export interface Line {
  pin: AgentCardPin
  runtime: A2a
  /** Values of the workspace's settings, which hold the agent's credentials. */
  settings: Record<string, unknown>
}

/** Loads the interface that the version keeps, and the workspace's settings. */
export const loadLine = async (deps: Deps, { installation, version }: Target): Promise<Line | undefined> => {
  const [manifest, settings] = await Promise.all([
    loadManifest(deps, version),
    loadSettingsForAgent(deps, installation, version),
  ])
  const { runtime } = manifest
  return runtime.type === 'a2a' && version.card ? { pin: version.card, runtime, settings } : undefined
}

/** Address at which an outside agent reports changes of a run's task, and the token that it has to send. */
export interface PushPlace {
  url: string
  token: string
}

export type Operation =
  | { kind: 'send'; message: OutgoingMessage; push?: PushPlace | undefined }
  | { kind: 'read' | 'cancel'; taskId: string }

const CONNECT_RETRY_PAUSES = [1_000, 3_000]

/**
 * Calls the interface of the version's pinned card. The platform's own tokens never go out, but for one that wakes it for this
 * run. A message is repeated only if no connection was made.
 */
export const callOutside = async (
  work: Work,
  run: Run,
  target: Target,
  { pin, runtime, settings }: Line,
  operation: Operation,
): Promise<Reading> => {
  const send = async (request: OutgoingRequest): Promise<OutgoingResult> =>
    (await sandboxRefusal(work, target.installation, request.url)) ?? work.http.send(request)
  let headers: Record<string, string>
  try {
    headers = await loadCredentials(work, send, runtime.auth, settings)
  } catch (error) {
    if (error instanceof CredentialsFailure) return { kind: 'unreachable', text: error.message, sent: false }
    throw error
  }
  const request = requestOf(pin, run, operation)
  const result = await sendTraced(
    send,
    { ...request, headers: { ...request.headers, ...headers } },
    {
      name: `a2a ${operation.kind}`,
      attributes: { 'platform.app_id': run.app_id, 'platform.run_id': run.id },
      withBaggage: true,
    },
  )
  logCall(work.log, `a2a ${operation.kind}`, 'agent', result.kind === 'response', {
    run_id: run.id,
    app_id: run.app_id,
    outcome: result.kind === 'response' ? result.status : result.phase,
    duration_ms: result.durationMs,
  })
  return readAnswer(result, pin.interface.version)
}

const requestOf = ({ interface: { url, binding, version, tenant } }: AgentCardPin, run: Run, operation: Operation) => {
  const limits =
    operation.kind === 'send'
      ? { deadlineMs: LIMITS.agentAnswer, connectRetryPausesMs: CONNECT_RETRY_PAUSES }
      : { deadlineMs: LIMITS.outsideRead, repeatable: true }
  const headers = {
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'AgentPlatform/1.0 (+a2a)',
    'A2A-Version': version,
  }
  const { method, path, params } = (version === '1.0' ? current : legacy)(binding, operation)
  const common = { ...limits, headers, maxResponseBytes: LIMITS.runPayloadBytes }
  if (binding === 'JSONRPC') {
    const place = tenant !== undefined && { tenant }
    const body = JSON.stringify({ jsonrpc: '2.0', id: run.id, method, params: { ...params, ...place } })
    return { ...common, method: 'POST', url, body } satisfies OutgoingRequest
  }
  const base = `${url.replace(/\/+$/, '')}${tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`}`
  return operation.kind === 'read'
    ? ({ ...common, method: 'GET', url: `${base}${path}` } satisfies OutgoingRequest)
    : ({ ...common, method: 'POST', url: `${base}${path}`, body: JSON.stringify(params) } satisfies OutgoingRequest)
}

interface Wire {
  /** Method of JSON-RPC, and path of HTTP+JSON. */
  method: string
  path: string
  params: Record<string, unknown>
}

const current = (binding: 'JSONRPC' | 'HTTP+JSON', operation: Operation): Wire => {
  if (operation.kind === 'send') {
    const { message, push } = operation
    const configuration = {
      returnImmediately: true,
      historyLength: 0,
      ...(push && { taskPushNotificationConfig: push }),
    }
    const params = { message, configuration }
    return { method: 'SendMessage', path: '/message:send', params }
  }
  const id = operation.taskId
  const at = `/tasks/${encodeURIComponent(id)}`
  const params = binding === 'JSONRPC' ? { id } : {}
  // Earlier messages aren't needed, and could exceed the limit of an answer.
  return operation.kind === 'read'
    ? { method: 'GetTask', path: `${at}?historyLength=0`, params: { ...params, historyLength: 0 } }
    : { method: 'CancelTask', path: `${at}:cancel`, params }
}

const legacy = (binding: 'JSONRPC' | 'HTTP+JSON', operation: Operation): Wire => {
  if (operation.kind === 'send') {
    const { push } = operation
    const isRpc = binding === 'JSONRPC'
    const configuration = {
      blocking: false,
      historyLength: 0,
      ...(push && { [isRpc ? 'pushNotificationConfig' : 'pushNotification']: push }),
    }
    const message = messageTo(isRpc ? 'kind' : 'proto', operation.message)
    return { method: 'message/send', path: '/v1/message:send', params: { message, configuration } }
  }
  const { method, path, params } = current(binding, operation)
  return { method: method === 'GetTask' ? 'tasks/get' : 'tasks/cancel', path: `/v1${path}`, params }
}
