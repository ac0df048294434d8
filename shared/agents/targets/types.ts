import type { Installation } from '#shared/access/installations/index.ts'
import type { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import type { RunErrorCode } from '#shared/kernel/run-errors.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import type { Run } from '#shared/work/runs/index.ts'

/** Fields of a run by which its receiver is found. */
export type TargetNames = Pick<Run, 'workspace_id' | 'installation_id' | 'app_id' | 'version_id' | 'grant_id'>

/** Receiver of a run. */
export interface Target {
  app: ItemOf<typeof AppEntity>
  version: ItemOf<typeof VersionEntity>
  installation: Installation
  workspace: Workspace
}

/** Reason why a run can't be sent: its `error_code` and `error_message`. */
export interface Refused {
  refused: [code: RunErrorCode, message: string]
}
