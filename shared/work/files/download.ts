import type { Deps } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type FileRecord, objectOf } from './entity.ts'

/** Media types that a browser would run or resolve if it showed them. Includes `…+xml`, but no office documents. */
const ACTIVE = /\b(x?html|xml|xsl|svg|\w*script|x-mixed-replace|rfc822|x-shockwave-flash)\b/i

/**
 * Returns a media type that is safe to serve. A presigned response can't set `nosniff`. Only the type and the attachment
 * disposition keep a customer's file from running in a browser.
 */
const safeType = (contentType: string): string => (ACTIVE.test(contentType) ? 'application/octet-stream' : contentType)

/** Only type that a browser may show from the bucket. Its viewer runs nothing that could reach a page. */
const PDF = /^application\/pdf$/i

/**
 * Signs an address that serves the content to anyone who has it, for 5 minutes.
 * @param inline lets the browser show a PDF instead of saving it; other types are always saved
 */
export const signDownloadUrl = (
  { objects }: Pick<Deps, 'objects'>,
  file: FileRecord,
  inline = false,
): Promise<string> =>
  objects.presignGet(objectOf(file.workspace_id, file.id), {
    expiresIn: LIMITS.downloadAddressLife / SECOND,
    filename: file.name,
    contentType: safeType(file.content_type),
    inline: inline && PDF.test(file.content_type),
  })
