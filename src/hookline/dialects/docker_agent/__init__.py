"""docker-agent, formerly cagent."""

from hookline.dialects.docker_agent.codec import DockerAgent

DIALECT = DockerAgent()
