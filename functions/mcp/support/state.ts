import * as z from 'zod'
import type { Deps } from '#shared/foundation/work/index.ts'
import { callerName } from '#shared/http/callers.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { lazily } from '#shared/kernel/lazily.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { McpCaller } from './caller.ts'
import { MCP_ERRORS, McpError } from './protocol.ts'

/** Time within which a client answers questions. */
const LIFE = 10 * MINUTE

const State = lazily(() =>
  z.object({
    run_id: z.string(),
    installation_id: z.string(),
    /** Step of the questions. */
    step_id: z.string(),
    /** Run that asked the agent. */
    asking: z.string().optional(),
    by: z.string(),
    call: z.string(),
    ends_at: z.number(),
  }),
)

export type RequestState = Pick<z.infer<ReturnType<typeof State>>, 'run_id' | 'installation_id' | 'step_id' | 'asking'>

/** The call that a state belongs to: it continues no other. */
export interface StatedCall {
  /** Agent and tool. */
  tool: string
  arguments: Record<string, unknown>
}

const RECORD = 'mcp request state'

const hashOf = ({ tool, arguments: given }: StatedCall): string => sha256(`${tool}\n${canonicalJson(given)}`)

/** Returns the encrypted state with which the client repeats its call, and answers. */
export const sealState = async (
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  caller: McpCaller,
  call: StatedCall,
  state: RequestState,
): Promise<string> => {
  const bound = { ...state, by: callerName(caller), call: hashOf(call), ends_at: clock.now() + LIFE }
  return seal(await keys.data(), RECORD, JSON.stringify(bound))
}

/** @throws {McpError} `invalidParams` for a state that was changed, has expired, or belongs to another caller or call */
export const openState = async (
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  caller: McpCaller,
  call: StatedCall,
  sealed: unknown,
): Promise<RequestState> => {
  const state = typeof sealed === 'string' ? await decrypted(keys, sealed) : undefined
  if (!state || state.by !== callerName(caller) || state.call !== hashOf(call) || state.ends_at <= clock.now()) {
    throw new McpError(
      MCP_ERRORS.invalidParams,
      'The requestState isn’t one of this call, or has expired. Repeat the call without it.',
    )
  }
  return state
}

const decrypted = async (keys: Deps['keys'], sealed: string) => {
  try {
    return State().parse(JSON.parse(await unseal(await keys.data(), RECORD, sealed)))
  } catch {
    return undefined
  }
}
