import { loadSettingsForAgent, scopesInEffect } from '#shared/access/installations/index.ts'
import { type App, signingSecretRecord } from '#shared/catalogue/apps/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import { issueToken } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { unseal } from '#shared/kernel/encryption.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingRequest } from '#shared/kernel/ports/outgoing-http.ts'
import { signStandard, signSvc } from '#shared/kernel/signatures.ts'
import { type InputAnswer, loadClientMessage, type Run } from '#shared/work/runs/index.ts'
import { loadSubject } from '../targets/subject.ts'
import type { Target } from '../targets/types.ts'
import { attemptOf } from './retry.ts'

/** Decision, answers or both, as sent to agents with `runtime.resume`. */
export interface Resume {
  step_id: string
  decision?: 'approved' | 'rejected'
  result?: unknown
  /** Signed receipt of the decision. Null if no person decided. */
  receipt?: string | null
  /** Answers by key that the agent wasn't sent yet. */
  input?: Record<string, InputAnswer>
}

/** Returns an app's currently valid signing secrets, newest first. */
const signingSecrets = async ({ keys, clock }: Pick<Deps, 'keys' | 'clock'>, app: App): Promise<string[]> => {
  const ring = await keys.data()
  const valid = app.signing_secrets.filter(({ until }) => until === undefined || until > clock.now())
  return Promise.all(valid.map(({ value }) => unseal(ring, signingSecretRecord(app.id), value)))
}

const CONNECT_RETRY_PAUSES = [1_000, 3_000]

/**
 * Builds the signed `run.execute` request (contract/runs.md#execute-request). Its callback token is bound to this run.
 */
export const buildExecuteRequest = async (
  deps: Deps,
  { run, installation, app, version, workspace }: { run: Run } & Target,
  resume?: Resume,
): Promise<OutgoingRequest> => {
  const { settings, clock } = deps
  const [input, about, secrets, token, configured] = await Promise.all([
    loadPayload(deps, run.input),
    loadSubject(deps, run),
    signingSecrets(deps, app),
    issueToken(deps, 'callback', {
      ins: run.installation_id,
      ws: run.workspace_id,
      app: run.app_id,
      run: run.id,
      grt: run.grant_id,
      sv: app.secret_version,
    }),
    loadSettingsForAgent(deps, installation, version),
  ])
  const seconds = Math.floor(clock.now() / 1_000)
  const body = JSON.stringify({
    type: 'run.execute',
    attempt: attemptOf(run),
    run: { id: run.id, input, trigger: run.trigger },
    agent: { id: run.agent_id, version: run.version },
    installation: {
      id: installation.id,
      workspace_id: installation.workspace_id,
      scopes: scopesInEffect(installation, workspace),
      settings: configured,
      owner: installation.owner,
    },
    callback: {
      base_url: `${settings.baseUrl}/api/v1`,
      mcp_url: `${settings.baseUrl}/mcp`,
      token: token.token,
      expires_in: token.expires_in,
    },
    actor: run.actor ?? null,
    caller: run.caller ? { ...run.caller, run_id: run.caller.run_id ?? null, audience: run.audience } : null,
    audience: run.audience,
    chain: { id: run.chain_id, depth: run.chain_depth, deadline: iso(run.chain_deadline) },
    ...(run.tool !== undefined && { tool: run.tool, arguments: input }),
    protocol: run.protocol ?? null,
    ...(run.protocol === 'a2a' && { message: await loadClientMessage(deps, run, input), context: run.context }),
    ...(run.client_capabilities && { client_capabilities: run.client_capabilities }),
    ...about,
    ...(resume && { resume }),
  })
  return {
    method: 'POST',
    url: version.endpoint ?? '',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'AgentPlatform/1.0 (+run.execute)',
      'X-SVC-Signature': signSvc(secrets, seconds, body),
      'X-SVC-Event': 'run.execute',
      // A resumption is another message about the same run, and another attempt is the same message.
      ...signStandard(secrets, resume?.step_id ?? run.id, seconds, body),
    },
    body,
    deadlineMs: LIMITS.agentAnswer,
    maxResponseBytes: LIMITS.runPayloadBytes,
    decisiveStatus: 202,
    connectRetryPausesMs: CONNECT_RETRY_PAUSES,
  }
}
