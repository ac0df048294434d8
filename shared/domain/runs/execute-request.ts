import type { App, Version } from '../../entities/apps.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Run } from '../../entities/runs.ts'
import { iso } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { unseal } from '../../kernel/sealed.ts'
import { signSvc } from '../../kernel/signatures.ts'
import type { Deps } from '../deps.ts'
import { settingsForAgent } from '../installations/settings-values.ts'
import { loadPayload } from '../payloads.ts'
import type { OutgoingRequest } from '../ports.ts'
import { issueToken } from '../tokens/tokens.ts'
import { subjectOf } from './subject.ts'

/** What `runtime.resume` agents get when a decision was made. */
export interface Resume {
  step_id: string
  decision: 'approved' | 'rejected'
  result: unknown
}

/** The record name that an app's signing secrets are sealed for. */
export const signingSecretRecord = (appId: string): string => `signing-secret:${appId}`

/** An app's signing secrets that are valid now, newest first. */
const signingSecrets = async ({ keys, clock }: Pick<Deps, 'keys' | 'clock'>, app: App): Promise<string[]> => {
  const ring = await keys.data()
  const valid = app.signing_secrets.filter(({ until }) => until === undefined || until > clock.now())
  return Promise.all(valid.map(({ value }) => unseal(ring, signingSecretRecord(app.id), value)))
}

const CONNECT_RETRY_PAUSES = [1_000, 3_000]

/**
 * The signed `run.execute` (specification "Agent runtime protocol", decisions §4), ready to be sent. The callback token
 * is bound to this run.
 */
export const executeRequest = async (
  deps: Deps,
  { run, installation, app, version }: { run: Run; installation: Installation; app: App; version: Version },
  resume?: Resume,
): Promise<OutgoingRequest> => {
  const { settings, clock } = deps
  const [input, about, secrets, token, configured] = await Promise.all([
    loadPayload(deps, run.input),
    subjectOf(deps, run),
    signingSecrets(deps, app),
    issueToken(deps, 'callback', {
      ins: run.installation_id,
      ws: run.workspace_id,
      app: run.app_id,
      run: run.id,
      sv: app.secret_version,
    }),
    settingsForAgent(deps, installation, version),
  ])
  const body = JSON.stringify({
    type: 'run.execute',
    run: { id: run.id, input, trigger: run.trigger },
    agent: { id: run.agent_id, version: run.version },
    installation: {
      id: installation.id,
      workspace_id: installation.workspace_id,
      scopes: installation.scopes,
      settings: configured,
      owner: installation.owner,
    },
    callback: { base_url: `${settings.baseUrl}/api/v1`, token: token.token, expires_in: token.expires_in },
    actor: run.actor ?? null,
    caller: run.caller ? { ...run.caller, run_id: run.caller.run_id ?? null, audience: run.audience } : null,
    audience: run.audience,
    chain: { id: run.chain_id, depth: run.chain_depth, deadline: iso(run.chain_deadline) },
    ...(run.tool !== undefined && { tool: run.tool, arguments: input }),
    ...about,
    ...(resume && { resume }),
  })
  return {
    method: 'POST',
    url: version.endpoint ?? '',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'AgentPlatform/1.0 (+run.execute)',
      'X-SVC-Signature': signSvc(secrets, Math.floor(clock.now() / 1_000), body),
      'X-SVC-Event': 'run.execute',
    },
    body,
    deadlineMs: LIMITS.agentAnswer,
    maxResponseBytes: LIMITS.runPayloadBytes,
    decisiveStatus: 202,
    connectRetryPausesMs: CONNECT_RETRY_PAUSES,
  }
}
