import type { App } from '#shared/catalogue/apps/index.ts'
import type { ReviewItemView } from './schemas.ts'

/** Requirements for submission (contract/moderation.md#submission), as the queue words them. */
const LABELS = {
  name: 'Has a name',
  summary: 'Has a one-sentence summary',
  description: 'Has a description',
  logo_url: 'Has a logo',
  privacy_url: 'Has a privacy policy',
  support_email: 'Has a support email',
  promoted_version: 'Has a promoted version',
  test_run_at: 'Has a successful test run',
} as const satisfies Partial<Record<keyof App, string>>

export const checklistOf = (app: App): ReviewItemView['checklist'] =>
  Object.entries(LABELS).map(([field, label]) => ({
    id: field === 'test_run_at' ? 'test_run' : field,
    label,
    done: Boolean(app[field as keyof typeof LABELS]),
  }))
