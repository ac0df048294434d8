/**
 * Returns true if the viewer may see a record. A private record (`private_to`) is visible only to its person.
 * @param viewer the person, or undefined for a viewer that sees everything, such as the agent itself
 */
export const isVisibleTo = (viewer: string | undefined, { private_to }: { private_to?: string | undefined }): boolean =>
  viewer === undefined || private_to === undefined || private_to === viewer
