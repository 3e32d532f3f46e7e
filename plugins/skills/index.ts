// Agent skills: artifacts, installation into clients, and the lock file of a project.

