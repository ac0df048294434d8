import type { FileRecord } from '../../entities/files.ts'
import { SECOND } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'
import { objectOf } from './loose.ts'

/** Types that a browser would run or resolve, were they ever shown instead of saved; `…+xml` is among them, office documents are not. */
const ACTIVE = /\b(x?html|xml|xsl|svg|\w*script|x-mixed-replace|rfc822|x-shockwave-flash)\b/i

/**
 * A type that is safe to be answered with. A presigned answer cannot say `nosniff`, so that the type and the attachment
 * disposition are what keeps a customer's file from running anywhere.
 */
const safeType = (contentType: string): string => (ACTIVE.test(contentType) ? 'application/octet-stream' : contentType)

/** An address that gives the content to whoever has it, for 5 minutes. */
export const downloadAddress = ({ objects }: Pick<Deps, 'objects'>, file: FileRecord): Promise<string> =>
  objects.presignGet(objectOf(file.workspace_id, file.id), {
    expiresIn: LIMITS.downloadAddressLife / SECOND,
    filename: file.name,
    contentType: safeType(file.content_type),
  })
