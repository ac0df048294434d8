import type { Work } from '#shared/foundation/work/index.ts'
import { exists } from '#shared/table/expressions.ts'
import { FileEntity, type FileRecord, filesIn } from './entity.ts'
import { requireFolder } from './folders.ts'
import { presentFile } from './present.ts'
import { fileNotFound, loadFileAndUse } from './read.ts'
import type { EditFile, FileView } from './schemas.ts'
import { changeWrite, type FileUser } from './uses.ts'

/**
 * Renames a file or moves it into another folder, or out of all folders. Messages and tasks keep the name that the file had
 * when it was attached.
 * @throws `not_found`, also for a file that is deleted at the same time, and for a folder that is being deleted
 */
export const editFile = async (
  work: Work,
  workspaceId: string,
  id: string,
  user: FileUser,
  { name, folder_id }: EditFile,
): Promise<FileView> => {
  const { file, use } = await loadFileAndUse(work, workspaceId, id, user)
  const isMoved = folder_id !== undefined && (folder_id ?? undefined) !== file.folder_id
  const moved = isMoved ? { folder_id: folder_id ?? undefined } : {}
  const changed: FileRecord = { ...file, ...(name !== undefined && { name }), ...moved }
  const view = presentFile(changed)
  if (!isMoved && changed.name === file.name) return view
  await work.commit(
    [
      FileEntity.update(
        file,
        {
          set: { name: changed.name, ...moved },
          ...(isMoved && { list: { owner: filesIn(workspaceId, changed.folder_id), sort: id } }),
        },
        { where: { id: exists }, otherwise: fileNotFound },
      ),
      ...(isMoved ? requireFolder(workspaceId, changed.folder_id) : []),
      changeWrite(work, file, user, use),
    ],
    view,
  )
  return view
}
