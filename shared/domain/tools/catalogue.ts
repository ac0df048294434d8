import * as z from 'zod'
import { LIMITS } from '../../kernel/limits.ts'
import type { Scope } from '../../kernel/scopes.ts'

export interface ToolDefinition {
  description: string
  /** Needed beside `tools:invoke`. */
  scope: Scope
  risk: 'read' | 'write' | 'dangerous'
  /** `each`: every call waits for a person. */
  approval: 'none' | 'each'
  input: () => z.ZodType<Record<string, unknown>>
}

const limit = () => z.number().int().min(1).max(LIMITS.pageMax).default(20)

/** Every platform tool, once (specification "Platform tools", decisions §9). */
export const TOOLS = {
  workspace_info: {
    description: 'Read the organization’s name and settings.',
    scope: 'workspace:read',
    risk: 'read',
    approval: 'none',
    input: () => z.strictObject({}),
  },
  list_runs: {
    description: 'List this installation’s latest runs, newest first.',
    scope: 'runs:read',
    risk: 'read',
    approval: 'none',
    input: () =>
      z.strictObject({
        status: z.enum(['queued', 'running', 'awaiting_approval', 'succeeded', 'failed', 'cancelled']).optional(),
        limit: limit(),
      }),
  },
  emit_event: {
    description:
      'Emit a custom event to this installation’s webhooks and event feed. `custom.` is put before the type.',
    scope: 'webhooks:manage',
    risk: 'write',
    approval: 'none',
    input: () =>
      z.strictObject({
        type: z
          .string()
          .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i, 'must be words of letters, digits, _ and -, separated by dots')
          .max(100),
        data: z.record(z.string(), z.unknown()).default({}),
      }),
  },
  http_fetch: {
    description:
      'Send one HTTP request to a public https address. Redirects are followed within the same origin only. Every call waits for a person’s approval.',
    scope: 'tools:invoke',
    risk: 'dangerous',
    approval: 'each',
    input: () =>
      z.strictObject({
        url: z.string().min(1).max(2_048),
        method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
        headers: z.record(z.string().max(200), z.string().max(4_096)).optional(),
        body: z.string().max(65_536).optional(),
      }),
  },
} as const satisfies Record<string, ToolDefinition>

export type ToolName = keyof typeof TOOLS

export const isTool = (name: string): name is ToolName => Object.hasOwn(TOOLS, name)
