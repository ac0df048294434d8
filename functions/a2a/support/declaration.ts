import type { Capability } from '#shared/kernel/capabilities.ts'
import type { ErrorCode } from '#shared/kernel/errors.ts'

/** What all endpoints that talk to an agent share. Messages are as large as those of MCP. */
export const ASKING = {
  group: 'a2a',
  caller: 'integration',
  lenient: true,
  waits: true,
  params: { id: 'installation' },
  maxBodyBytes: 2 * 1_024 * 1_024,
  errors: [
    'bad_request',
    'not_found',
    'forbidden',
    'insufficient_scope',
    'scope_denied_by_admin',
    'validation_error',
    'tool_denied',
    'tool_not_offered',
    'invalid_arguments',
    'chain_too_deep',
    'chain_budget_exceeded',
    'too_many_active_runs',
    'run_already_finished',
    'conflict',
    'unknown_agent',
    'payload_too_large',
  ] as ErrorCode[],
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write', 'keys:data', 'keys:cards'] as Capability[],
} as const
