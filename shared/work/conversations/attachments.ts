import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { FileEntity, type FileRecord } from '../files/entity.ts'
import type { Message } from './entity.ts'

/** Loads the details of the attached files that a message stores. They don't change with the file. */
export const loadAttachments = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Message['attachments']> => {
  const known = ids.filter((id) => isId('file', id))
  const found = (await table.getAll(known.map((id) => FileEntity.ref({ workspace_id: workspaceId, id })))) as (
    | FileRecord
    | undefined
  )[]
  const files = new Map(found.flatMap((file) => (file?.status === 'ready' ? [[file.id, file] as const] : [])))
  const fields: Record<string, string[]> = {}
  for (const [i, id] of ids.entries())
    if (!files.has(id)) fields[`attachments.${i}`] = ['is not a file of this workspace']
  if (Object.keys(fields).length > 0) {
    throw fail('validation_error', {
      message: 'Some attachments are not files of this workspace.',
      details: { fields },
    })
  }
  return ids.map((id) => {
    const { name, content_type, size } = files.get(id) as FileRecord
    return { file_id: id, name, content_type, size }
  })
}
