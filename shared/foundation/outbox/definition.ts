import type * as z from 'zod'
import type { Scope } from '#shared/kernel/scopes.ts'

/**
 * Audience of an event, for polling and webhooks (contract/events-and-webhooks.md#who-sees-an-event).
 * - `installation`: the installation that it belongs to
 * - `workspace`: every installation of the workspace
 * - `internal`: no client, only the platform's own workers
 *
 * `scope` is what the audience needs in order to read it. Null: an installation needs no scope for its own events.
 */
type Audience =
  | { audience: 'installation'; scope: Scope | null }
  | { audience: 'workspace'; scope: Scope }
  | { audience: 'internal' }

export type EventDefinition = Audience & {
  when: string
  data: () => z.ZodType<Record<string, unknown>>
  /** Fields with personal text. Cleared when the person whose conversation it is about is deleted. Deleted people are renamed in the other fields. */
  personal?: readonly string[]
}

/** Event types of a noun, by name. */
export type EventDefinitions = Record<string, EventDefinition>

/** Event envelope as webhooks and polling return it (contract/events-and-webhooks.md#event-envelope). */
export interface EventEnvelope {
  id: string
  type: string
  created_at: string
  workspace_id: string
  data: Record<string, unknown>
  /** Set on a sample event from `POST /api/v1/dev/sandbox/trigger`. */
  test?: true
}

/** Returns true if one of a subscription's masks matches the type: an exact type, `run.*`, or `*`. */
export const matchesMask = (masks: readonly string[], type: string): boolean =>
  masks.some((mask) => mask === '*' || mask === type || (mask.endsWith('.*') && type.startsWith(mask.slice(0, -1))))
