import type { App } from '../../entities/apps.ts'
import type { ReviewItemView } from './schemas.ts'

/** What moderation needs (decisions §7), in the words of the queue. */
const LABELS = {
  name: 'It has a name',
  summary: 'It says in a sentence what it does',
  description: 'It is described',
  logo_url: 'It has a logo',
  privacy_url: 'It has a privacy policy',
  support_email: 'It has an address for support',
  promoted_version: 'A version is promoted',
  test_run_at: 'A test run succeeded',
} as const satisfies Partial<Record<keyof App, string>>

export const checklistOf = (app: App): ReviewItemView['checklist'] =>
  Object.entries(LABELS).map(([field, label]) => ({
    id: field === 'test_run_at' ? 'test_run' : field,
    label,
    done: Boolean(app[field as keyof typeof LABELS]),
  }))
