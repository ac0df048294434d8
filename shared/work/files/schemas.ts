import * as z from 'zod'
import { idField, oneLine, time } from '#shared/foundation/schemas/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

/** Refuses path separators and the names of directories. With the flag `u` the pattern counts characters. */
const NAME = /^(?!\.{1,2}$)[^/\\]{1,255}$/u

/** Media type (RFC 6838 §4.2) with parameters that need no quotes. It becomes a header, so one space at most. */
const CONTENT_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}(; ?[a-z0-9!#$&^_.+-]+=[a-z0-9!#$&^_.+-]+)*$/i

/** Name of a file or folder. Direction controls would make `gpj.exe` read as `exe.jpg`. */
const fileName = () =>
  oneLine(
    z.string().normalize('NFC').trim().regex(NAME, 'must have 1 to 255 characters, without slashes and backslashes'),
  )
    // The same for validators without character classes. Lone surrogates are refused with the whole body.
    .meta({
      example: 'report.csv',
      pattern:
        '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069/\\\\]{1,255}$',
    })

const contentType = () =>
  z
    .string()
    .max(255)
    .regex(CONTENT_TYPE, 'must be a media type, such as text/csv or text/plain; charset=utf-8')
    .meta({ example: 'text/csv' })

/**
 * The same for tools. Many frameworks drop all tools because of one pattern with look-around or `\/`, so the patterns say
 * less than the checks.
 */
export const fileNameForModels = () => fileName().meta({ pattern: '^[^/\\\\]{1,255}$' })
export const contentTypeForModels = () => contentType().meta({ pattern: '^[^/]+/[^/]+$' })

/** Body of `PATCH /console/files/{id}`. */
export const EditFile = () =>
  z
    .strictObject({
      name: fileName().optional(),
      folder_id: z.string().nullable().optional().meta({
        description: 'A folder of the workspace; null moves the file out of its folder.',
        example: null,
      }),
    })
    .refine(({ name, folder_id }) => name !== undefined || folder_id !== undefined, {
      path: ['name'],
      message: 'send name or folder_id',
    })
    .meta({ id: 'EditFile', example: { name: 'report-may.csv', folder_id: null } })

export type EditFile = z.infer<ReturnType<typeof EditFile>>

/** Body of `PATCH /console/folders/{id}`. */
export const RenameFolder = () => z.strictObject({ name: fileName() }).meta({ id: 'RenameFolder' })

const view = () => ({
  kind: z.literal('file'),
  id: idField('fil'),
  name: z.string(),
  folder_id: idField('fld').nullable().meta({ description: 'Folder that contains the file; null if none does.' }),
  content_type: z.string(),
  size: z.number().int().meta({ description: 'Size in bytes.' }),
  status: z.enum(['ready', 'pending']).meta({
    description:
      '`pending`: the upload hasn’t been found yet. Reading the file checks for it. A file whose upload never arrives is removed 24 hours after its creation.',
  }),
  created_by: z.object({ type: z.enum(['user', 'agent', 'system']), id: z.string(), name: z.string() }),
  created_at: time(),
})

/** A file's metadata (contract/tasks-files-conversations.md#files). */
export const FileSchema = () => z.object(view()).meta({ id: 'StoredFile' })

export type FileView = z.infer<ReturnType<typeof FileSchema>>

export const FolderSchema = () =>
  z
    .object({ kind: z.literal('folder'), id: idField('fld'), name: z.string(), created_at: time() })
    .meta({ id: 'Folder' })

export type FolderView = z.infer<ReturnType<typeof FolderSchema>>

/** Items of the list: files, or folders with `kind=folder`. */
export const ListedFileSchema = () => z.discriminatedUnion('kind', [FileSchema(), FolderSchema()])

/** Filters of that list. */
export const fileFilters = () => ({
  kind: z.enum(['file', 'folder']).default('file'),
  folder_id: z.string().optional().meta({
    description:
      'Only files in this folder. `root` returns only files outside all folders. Not allowed with `kind=folder`.',
  }),
})

/** Filters and orders of the console's list. */
export const fileSearch = () => ({
  ...fileFilters(),
  q: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(200)
    .optional()
    .meta({ description: 'Words that the name contains, without regard to case and accents.' }),
  sort: z.enum(['created_at', 'name', 'size']).default('created_at'),
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .meta({ description: 'Default: `asc` by name, otherwise `desc`: the newest or largest first.' }),
})

export type FileSearch = z.infer<z.ZodObject<ReturnType<typeof fileSearch>>>

/** Refinement of a query with {@link fileSearch}: folders are few, and a client sorts them itself. */
export const searchFits = ({ kind, folder_id, q, sort, order }: FileSearch): boolean =>
  kind === 'file' || [folder_id, q, order].every((one) => one === undefined) === (sort === 'created_at')

export const SEARCH_FITS = { path: ['kind'], message: 'folders take no folder_id, q, sort and order' }

export type FileFilter = z.infer<z.ZodObject<ReturnType<typeof fileFilters>>>

/** Refinement of a query with {@link fileFilters}. */
export const folderFits = ({ kind, folder_id }: FileFilter): boolean => kind === 'file' || folder_id === undefined

export const FOLDER_FITS = {
  path: ['folder_id'],
  message: 'is not allowed with kind=folder, because folders can’t be nested',
}

export const FileWithDownloadSchema = () =>
  z
    .object({
      ...view(),
      download_url: z.string().nullable().meta({
        format: 'uri',
        description:
          'Downloads the content as an attachment, without further credentials, for 5 minutes. Null while the upload is pending. Types that a browser would run (HTML, SVG, XML, scripts) are served as application/octet-stream.',
      }),
    })
    .meta({ id: 'FileWithDownload' })

export type FileWithDownloadView = z.infer<ReturnType<typeof FileWithDownloadSchema>>

const uploadFields = () =>
  z.object({
    method: z.literal('PUT'),
    url: z.string().meta({ format: 'uri' }),
    headers: z.record(z.string(), z.string()).meta({
      description: 'Headers to send unchanged, with a body of exactly `size` bytes. Headers and size are signed.',
      example: { 'content-type': 'text/csv', 'if-none-match': '*' },
    }),
    expires_at: time(),
  })

/** Response of `POST /console/files/{id}/upload`. */
export const UploadSchema = () => z.object({ upload: uploadFields() }).meta({ id: 'RenewedUpload' })

export type UploadView = z.infer<ReturnType<typeof UploadSchema>>

/** A person's or an agent's use of a file. */
export const FileUseSchema = () =>
  z
    .object({
      actor: z.object({ type: z.enum(['user', 'agent', 'system']), id: z.string(), name: z.string() }),
      created_at: time()
        .nullable()
        .meta({ description: 'Time at which they created the file; null for everybody else.' }),
      read_at: time()
        .nullable()
        .meta({ description: 'Time of their latest recorded read. Reads within five minutes count as one.' }),
      changed_at: time().nullable().meta({ description: 'Time at which they last renamed or moved the file.' }),
      runs: z
        .array(z.object({ id: idField('run'), at: time() }))
        .meta({ description: 'The latest 10 runs in which an agent used the file, without those private to others.' }),
    })
    .meta({ id: 'FileUse' })

export type FileUseView = z.infer<ReturnType<typeof FileUseSchema>>

export const CreatedFileSchema = () =>
  z
    .object({
      ...view(),
      upload: uploadFields().optional().meta({
        description:
          'Present if the request had no content: where to upload it, once. The upload must start within 15 minutes.',
      }),
    })
    .meta({ id: 'CreatedFile' })

export type CreatedFileView = z.infer<ReturnType<typeof CreatedFileSchema>>

/** Response of `GET /console/files/{id}/download`. */
export const DownloadSchema = () =>
  z
    .object({
      download_url: z.string().meta({
        format: 'uri',
        description: 'Downloads the content as an attachment, without further credentials. See `FileWithDownload`.',
      }),
      expires_at: time().meta({ description: 'Time by which the download must start.' }),
      name: z.string(),
      content_type: z.string(),
      size: z.number().int().meta({ description: 'Size in bytes.' }),
    })
    .meta({ id: 'Download' })

export type DownloadView = z.infer<ReturnType<typeof DownloadSchema>>

/** Response of `POST /console/files`. */
export const CreatedFileOrFolderSchema = () => z.discriminatedUnion('kind', [CreatedFileSchema(), FolderSchema()])

/** Fields with content, shared by requests and the arguments of a tool. */
export const contentFields = () => ({
  content: z.string().optional().meta({ description: 'The content as text, at most 1 MiB in UTF-8.' }),
  content_base64: z
    .string()
    .optional()
    .meta({ description: 'The content in base64 with padding (RFC 4648 §4), at most 4 MiB decoded.' }),
})

const createFile = () =>
  z.strictObject({
    name: fileName(),
    folder_id: z.string().optional().meta({ description: 'A folder of the workspace.' }),
    content_type: contentType(),
    ...contentFields(),
    size: z
      .number()
      .int()
      .min(0)
      .optional()
      .meta({
        description: `Size in bytes of a later upload, at most ${LIMITS.fileUploadBytes}. The response contains the address to upload to.`,
      }),
  })

const oneContent = ({
  content,
  content_base64,
  size,
}: {
  content?: unknown
  content_base64?: unknown
  size?: unknown
}) => [content, content_base64, size].filter((field) => field !== undefined).length === 1

const ONE_CONTENT = { path: ['content'], message: 'send exactly one of content, content_base64 and size' }
const EXAMPLE = { name: 'report.csv', content_type: 'text/csv', content: 'name,phone\nAda,+41 44 668 18 00\n' }

export const CreateFile = () => createFile().refine(oneContent, ONE_CONTENT).meta({ example: EXAMPLE })

export type CreateFile = z.infer<ReturnType<typeof CreateFile>>

const createFolder = () => z.strictObject({ kind: z.literal('folder'), name: fileName() })

/** Body of `POST /console/files`. */
export const CreateFileOrFolder = () =>
  z
    .discriminatedUnion('kind', [
      createFolder(),
      createFile()
        .extend({ kind: z.literal('file').optional() })
        .refine(oneContent, ONE_CONTENT),
    ])
    .meta({ example: EXAMPLE })
