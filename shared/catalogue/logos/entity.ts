import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Schema of an image that the platform fetched from `url` and serves itself, named by the SHA-256 of its bytes. */
export const fetchedLogo = () => z.object({ url: z.string(), hash: z.string() })

export type FetchedLogo = z.infer<ReturnType<typeof fetchedLogo>>

const logoFetch = () =>
  z.object({
    /** Id of the app, or {@link PLATFORM_LOGO}. */
    owner: z.string(),
    /** A new id for each request, so that the end of an earlier one doesn't end a later one. */
    id: z.string(),
    /** Attempts that failed. */
    failed: z.number(),
    /** Hashes of images to delete, unless their owner needs them again by then. */
    unused: z.array(z.string()).optional(),
    due_at: z.number().optional(),
  })

export type LogoFetch = z.infer<ReturnType<typeof logoFetch>>

/** Owner of the logo of the platform's own agent. */
export const PLATFORM_LOGO = 'platform'

/** A logo that is to be fetched. Deleted when it was, or when the last attempt failed. */
export const LogoFetchEntity = defineEntity({
  name: 'logo-fetch',
  schema: logoFetch,
  pk: 'LOGO#{owner}',
  sk: 'FETCH',
  personal: 'none',
  // The fetch of a deleted app deletes its image, and then itself.
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  due: true,
})
