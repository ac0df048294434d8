import type { Installation } from '#shared/access/installations/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { failureText, type Run, withoutShapes } from '#shared/work/runs/index.ts'

/**
 * Presents the target's run to the asking agent (contract/agent-to-agent.md#answers). Its content is quoted and marked
 * `untrusted`, because the platform doesn't vouch for it. Only the code and message of a failure are passed on.
 */
export const presentAnswer = async (
  deps: Pick<Deps, 'objects'>,
  { app_slug, app_name }: Pick<Installation, 'app_slug' | 'app_name'>,
  tool: string,
  run: Run,
): Promise<Record<string, unknown>> => {
  const common = {
    agent: app_name,
    tool,
    status: run.status === 'succeeded' ? 'succeeded' : 'failed',
    source: `agent:${app_slug}`,
    untrusted: true,
    chain_depth: run.chain_depth,
  }
  if (run.status === 'succeeded') return { ...common, output: await outputOf(deps, run) }
  return {
    ...common,
    error_code: run.error_code ?? 'run_cancelled',
    error_message: truncate(failureText(run), LIMITS.agentErrorCharacters),
  }
}

/** Returns at most 16,000 characters of JSON text, or `found: false` for an empty output. */
const outputOf = async (deps: Pick<Deps, 'objects'>, { output }: Run): Promise<Record<string, unknown>> => {
  const value = output ? withoutShapes(((await loadPayload(deps, output)) ?? {}) as Record<string, unknown>) : {}
  const text = JSON.stringify(value)
  if (text === '{}' || text === 'null') return { found: false }
  if (text.length <= LIMITS.agentOutputCharacters) return value as Record<string, unknown>
  return { truncated: true, text: truncate(text, LIMITS.agentOutputCharacters) }
}
