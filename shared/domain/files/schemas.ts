import * as z from 'zod'
import { LIMITS } from '../../kernel/limits.ts'
import { idField, time } from '../fields.ts'

/**
 * What no name may have: controls and line ends, lone surrogates, the separators of paths, and characters that turn the
 * direction of text, with which `gpj.exe` reads as `exe.jpg` (Unicode TR 36 §2.8). A pattern with `u` counts characters.
 */
const NAME = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069/\\]{1,255}$/u

/** A media type by RFC 6838 §4.2, with parameters whose values need no quotes. It becomes a header: one blank at most. */
const CONTENT_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}(; ?[a-z0-9!#$&^_.+-]+=[a-z0-9!#$&^_.+-]+)*$/i

export const fileName = () =>
  z
    .string()
    .trim()
    .regex(NAME, 'must have 1 to 255 characters, and no slash, backslash, control or direction character')
    // The same for validators whose patterns know no classes of characters; half a pair is refused with the body.
    .meta({
      example: 'report.csv',
      pattern:
        '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069/\\\\]{1,255}$',
    })

export const contentType = () =>
  z
    .string()
    .max(255)
    .regex(CONTENT_TYPE, 'must be a media type, such as text/csv or text/plain; charset=utf-8')
    .meta({ example: 'text/csv' })

const view = () => ({
  kind: z.literal('file'),
  id: idField('fil'),
  name: z.string(),
  folder_id: idField('fld').nullable().meta({ description: 'The folder that it is in; null when in none.' }),
  content_type: z.string(),
  size: z.number().int().meta({ description: 'Bytes.' }),
  status: z.enum(['ready', 'pending']).meta({
    description:
      '`pending`: its upload was not seen yet. Reading the file looks for it; 24 hours after the creation a file whose upload never came is removed.',
  }),
  created_by: z.object({ type: z.enum(['user', 'agent', 'system']), id: z.string(), name: z.string() }),
  created_at: time(),
})

/** A file's metadata (decisions §8). */
export const FileSchema = () => z.object(view()).meta({ id: 'File' })

export type FileView = z.infer<ReturnType<typeof FileSchema>>

export const FolderSchema = () =>
  z
    .object({ kind: z.literal('folder'), id: idField('fld'), name: z.string(), created_at: time() })
    .meta({ id: 'Folder' })

export type FolderView = z.infer<ReturnType<typeof FolderSchema>>

/** What the list holds: files, or with `kind=folder` folders. */
export const ListedFileSchema = () => z.discriminatedUnion('kind', [FileSchema(), FolderSchema()])

/** What narrows that list. */
export const fileFilters = () => ({
  kind: z.enum(['file', 'folder']).default('file'),
  folder_id: z.string().optional().meta({
    description: 'Only the files of this folder; `root`: only those in none. Does not go with `kind=folder`.',
  }),
})

export type FileFilter = z.infer<z.ZodObject<ReturnType<typeof fileFilters>>>

/** What a query with {@link fileFilters} is refined by. */
export const folderFits = ({ kind, folder_id }: FileFilter): boolean => kind === 'file' || folder_id === undefined

export const FOLDER_FITS = { path: ['folder_id'], message: 'does not go with kind=folder: folders lie in no folder' }

export const FileWithDownloadSchema = () =>
  z
    .object({
      ...view(),
      download_url: z.string().nullable().meta({
        format: 'uri',
        description:
          'Downloads the content as an attachment, without further credentials, for 5 minutes. Null while the upload is pending. Types that a browser would run (HTML, SVG, XML, scripts) come as application/octet-stream.',
      }),
    })
    .meta({ id: 'FileWithDownload' })

export type FileWithDownloadView = z.infer<ReturnType<typeof FileWithDownloadSchema>>

export const CreatedFileSchema = () =>
  z
    .object({
      ...view(),
      upload: z
        .object({
          method: z.literal('PUT'),
          url: z.string().meta({ format: 'uri' }),
          headers: z.record(z.string(), z.string()).meta({
            description: 'Send them as they are, and a body of exactly `size` bytes. All of it is signed.',
            example: { 'content-type': 'text/csv', 'if-none-match': '*' },
          }),
          expires_at: time(),
        })
        .optional()
        .meta({
          description: 'Only without content: where to put it, once. The upload has to begin within 15 minutes.',
        }),
    })
    .meta({ id: 'CreatedFile' })

export type CreatedFileView = z.infer<ReturnType<typeof CreatedFileSchema>>

/** `GET /console/files/{id}/download`. */
export const DownloadSchema = () =>
  z
    .object({
      download_url: z.string().meta({
        format: 'uri',
        description: 'Downloads the content as an attachment, without further credentials. See `FileWithDownload`.',
      }),
      expires_at: time().meta({ description: 'Until when the download has to begin.' }),
      name: z.string(),
      content_type: z.string(),
      size: z.number().int().meta({ description: 'Bytes.' }),
    })
    .meta({ id: 'Download' })

export type DownloadView = z.infer<ReturnType<typeof DownloadSchema>>

/** What `POST /console/files` answers. */
export const CreatedFileOrFolderSchema = () => z.discriminatedUnion('kind', [CreatedFileSchema(), FolderSchema()])

/** The parts of a request that hold content; a tool's arguments have them, too. */
export const contentFields = () => ({
  content: z.string().optional().meta({ description: 'The content as text, at most 1 MiB in UTF-8.' }),
  content_base64: z
    .string()
    .optional()
    .meta({ description: 'The content in base64 with padding (RFC 4648 §4), at most 4 MiB when decoded.' }),
})

const createFile = () =>
  z.strictObject({
    name: fileName(),
    folder_id: z.string().optional().meta({ description: 'A folder of the organization.' }),
    content_type: contentType(),
    ...contentFields(),
    size: z
      .number()
      .int()
      .min(0)
      .optional()
      .meta({
        description: `Bytes that will be uploaded, at most ${LIMITS.fileUploadBytes}: the answer says where to.`,
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
}) => [content, content_base64, size].filter((given) => given !== undefined).length === 1

const ONE_CONTENT = { path: ['content'], message: 'give exactly one of content, content_base64 and size' }

const EXAMPLE = { name: 'report.csv', content_type: 'text/csv', content: 'name,phone\nAda,+41 44 668 18 00\n' }

export const CreateFile = () => createFile().refine(oneContent, ONE_CONTENT).meta({ example: EXAMPLE })

export type CreateFile = z.infer<ReturnType<typeof CreateFile>>

const createFolder = () => z.strictObject({ kind: z.literal('folder'), name: fileName() })

/** `POST /console/files`. */
export const CreateFileOrFolder = () =>
  z
    .discriminatedUnion('kind', [
      createFolder(),
      createFile()
        .extend({ kind: z.literal('file').optional() })
        .refine(oneContent, ONE_CONTENT),
    ])
    .meta({ example: EXAMPLE })
