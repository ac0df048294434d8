import { iso } from '#shared/kernel/clock.ts'
import type { FileRecord, Folder } from './entity.ts'
import type { FileView, FolderView } from './schemas.ts'

export const presentFile = (file: FileRecord): FileView => ({
  kind: 'file',
  id: file.id,
  name: file.name,
  folder_id: file.folder_id ?? null,
  content_type: file.content_type,
  size: file.size,
  status: file.status,
  created_by: file.created_by,
  created_at: iso(file.created_at),
})

export const presentFolder = ({ id, name, created_at }: Folder): FolderView => ({
  kind: 'folder',
  id,
  name,
  created_at: iso(created_at),
})
