"""The search index kept beside the truth: changes brought into it, made anew, compared with SQL, and watched."""
