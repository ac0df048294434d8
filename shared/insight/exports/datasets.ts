import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { ReviewEntity } from '#shared/marketplace/reviews/index.ts'
import { AuditEntity } from '#shared/staff/audit/index.ts'
import { durationOf, RunEntity } from '#shared/work/runs/index.ts'
import type { Cell } from './csv.ts'
import { type Range, readDirectory, readDirectoryByDay, readInstallationsByApp } from './pages.ts'

export const DATASETS = ['apps', 'developers', 'workspaces', 'installations', 'runs', 'reviews', 'audit'] as const
export type DatasetName = (typeof DATASETS)[number]

/** The admin who exports. Only superadmins get columns with email and IP addresses. */
interface Reader {
  superadmin: boolean
}

/** Cell functions by column. The columns are the same for every reader. */
type Columns<T> = Record<string, (item: T, reader: Reader) => Cell>

interface Dataset<T> {
  columns: Columns<T>
  /** Reads the records page by page, on demand. */
  pages(deps: Pick<Deps, 'table'>, range: Range): AsyncGenerator<T[]>
}

const dataset = <T>(definition: Dataset<T>): Dataset<never> => definition as unknown as Dataset<never>

const at = (ms: number | null | undefined): Cell => (typeof ms === 'number' ? iso(ms) : undefined)

export const DATASET_DEFINITIONS: Record<DatasetName, Dataset<never>> = {
  apps: dataset({
    pages: (deps, range) => readDirectory(deps, AppEntity, 'apps', 'app', range),
    columns: {
      id: ({ id }) => id,
      developer_id: ({ developer_id }) => developer_id,
      slug: ({ slug }) => slug,
      type: ({ type }) => type,
      name: ({ name }) => name,
      summary: ({ summary }) => summary,
      category: ({ category }) => category,
      status: ({ status }) => status,
      verified: ({ verified }) => verified,
      promoted_version: ({ promoted_version }) => promoted_version,
      requested_scopes: ({ requested_scopes }) => requested_scopes.join(' '),
      submitted_at: ({ submitted_at }) => at(submitted_at),
      approved_at: ({ approved_at }) => at(approved_at),
      created_at: ({ created_at }) => at(created_at),
      updated_at: ({ updated_at }) => at(updated_at),
    },
  }),
  developers: dataset({
    pages: (deps, range) => readDirectory(deps, DeveloperEntity, 'developers', 'developer', range),
    columns: {
      id: ({ id }) => id,
      email: ({ email }, { superadmin }) => (superadmin ? email : undefined),
      name: ({ name }) => name,
      company: ({ company }) => company,
      vendor: ({ vendor }) => vendor,
      status: ({ status }) => status,
      verified: ({ verified }) => verified,
      sandbox_workspace_id: ({ sandbox_workspace_id }) => sandbox_workspace_id,
      created_at: ({ created_at }) => at(created_at),
    },
  }),
  workspaces: dataset({
    pages: (deps, range) => readDirectory(deps, WorkspaceEntity, 'workspaces', 'workspace', range),
    columns: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      is_sandbox: ({ is_sandbox }) => is_sandbox,
      developer_id: ({ developer_id }) => developer_id,
      status: ({ status }) => status,
      deletes_at: ({ deletes_at }) => at(deletes_at),
      locale: ({ locale }) => locale,
      time_zone: ({ time_zone }) => time_zone,
      created_at: ({ created_at }) => at(created_at),
    },
  }),
  installations: dataset({
    pages: readInstallationsByApp,
    columns: {
      id: ({ id }) => id,
      app_id: ({ app_id }) => app_id,
      app_slug: ({ app_slug }) => app_slug,
      workspace_id: ({ workspace_id }) => workspace_id,
      is_sandbox: ({ is_sandbox }) => is_sandbox,
      status: ({ status }) => status,
      agent_id: ({ agent_id }) => agent_id,
      version: ({ version }) => version,
      scopes: ({ scopes }) => scopes.join(' '),
      created_at: ({ created_at }) => at(created_at),
      updated_at: ({ updated_at }) => at(updated_at),
      revoked_at: ({ revoked_at }) => at(revoked_at),
    },
  }),
  runs: dataset({
    pages: (deps, range) => readDirectoryByDay(deps, RunEntity, 'run', deps.table.payloadDays, range),
    columns: {
      id: ({ id }) => id,
      status: ({ status }) => status,
      app_id: ({ app_id }) => app_id,
      installation_id: ({ installation_id }) => installation_id,
      workspace_id: ({ workspace_id }) => workspace_id,
      is_sandbox: ({ is_sandbox }) => is_sandbox,
      agent_id: ({ agent_id }) => agent_id,
      version: ({ version }) => version,
      trigger: ({ trigger }) => trigger,
      error_code: ({ error_code }) => error_code,
      cost_units: ({ cost_units }) => cost_units,
      parent_run_id: ({ parent_run_id }) => parent_run_id,
      chain_depth: ({ chain_depth }) => chain_depth,
      steps: ({ step_count }) => step_count,
      created_at: ({ created_at }) => at(created_at),
      started_at: ({ started_at }) => at(started_at),
      finished_at: ({ finished_at }) => at(finished_at),
      duration_ms: (run) => durationOf(run),
    },
  }),
  reviews: dataset({
    pages: (deps, range) => readDirectory(deps, ReviewEntity, 'reviews', 'review', range),
    columns: {
      id: ({ id }) => id,
      app_id: ({ app_id }) => app_id,
      developer_id: ({ developer_id }) => developer_id,
      workspace_id: ({ workspace_id }) => workspace_id,
      rating: ({ rating }) => rating,
      text: ({ text }) => text,
      hidden: ({ hidden }) => hidden,
      reply: ({ reply }) => reply?.text,
      replied_at: ({ reply }) => at(reply?.at),
      created_at: ({ created_at }) => at(created_at),
      updated_at: ({ updated_at }) => at(updated_at),
    },
  }),
  audit: dataset({
    pages: (deps, range) => readDirectoryByDay(deps, AuditEntity, 'audit', 2 * 366, range),
    columns: {
      id: ({ id }) => id,
      scope: ({ scope }) => scope,
      action: ({ action }) => action,
      actor_type: ({ actor }) => actor.type,
      actor_id: ({ actor }) => actor.id,
      target_type: ({ target }) => target.type,
      target_id: ({ target }) => target.id,
      source_ip: ({ source_ip }, { superadmin }) => (superadmin ? source_ip : undefined),
      request_id: ({ request_id }) => request_id,
      details: ({ details }) => JSON.stringify(details),
      created_at: ({ created_at }) => at(created_at),
    },
  }),
}
