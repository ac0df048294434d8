import type { App } from '../../entities/apps.ts'
import type { Run } from '../../entities/runs.ts'
import { beginning } from '../../kernel/beginning.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'
import { loadPayload } from '../payloads.ts'

/**
 * What the asking agent gets of the target's run (specification "ask_agent"). Whatever it holds is a quoted source and not
 * the platform's word: `untrusted`. Of a failure only its code and text pass on.
 */
export const answerOf = async (
  deps: Pick<Deps, 'objects'>,
  app: Pick<App, 'slug' | 'name'>,
  tool: string,
  run: Run,
): Promise<Record<string, unknown>> => {
  const common = {
    agent: app.name,
    tool,
    status: run.status === 'succeeded' ? 'succeeded' : 'failed',
    source: `agent:${app.slug}`,
    untrusted: true,
    chain_depth: run.chain_depth,
  }
  if (run.status === 'succeeded') return { ...common, output: await outputOf(deps, run) }
  return {
    ...common,
    error_code: run.error_code ?? 'run_cancelled',
    error_message: beginning(run.error_message ?? 'The agent’s run was cancelled.', LIMITS.agentErrorCharacters),
  }
}

/** At most 16,000 characters of JSON text; `found: false` where the target gave nothing. */
const outputOf = async (deps: Pick<Deps, 'objects'>, { output }: Run): Promise<Record<string, unknown>> => {
  const value = output ? await loadPayload(deps, output) : {}
  const text = JSON.stringify(value)
  if (text === '{}' || text === 'null') return { found: false }
  if (text.length <= LIMITS.agentOutputCharacters) return value as Record<string, unknown>
  return { truncated: true, text: beginning(text, LIMITS.agentOutputCharacters) }
}
